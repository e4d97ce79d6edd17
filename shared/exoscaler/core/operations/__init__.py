"""The two state machines: operations, the effects they ask for, and how they advance."""
