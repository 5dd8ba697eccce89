"""The usual way of writing this service: FastAPI, SQLAlchemy's ORM, and pydantic models for requests and responses.

It has the tables, responses, durability and hashing of logoadmin for the compared operations.
"""
