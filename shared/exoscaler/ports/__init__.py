"""What the use cases need of the outside world, as Protocols with their failure contract."""
