"""The usual way of writing this service: FastAPI, SQLAlchemy's ORM, pydantic models of what goes in and out.

It has the tables, responses, durability and hashing of logoadmin for the compared operations.
"""
