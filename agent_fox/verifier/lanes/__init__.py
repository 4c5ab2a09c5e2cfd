"""Lanes: one for each way in which a program can say whether a specification holds. Who is bound by it is not here."""
