"""Confirmation: decides in sets which payments are paid and what each event meant, under lock, in one transaction."""
