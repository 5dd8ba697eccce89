"""The usual way of writing this service: FastAPI, SQLAlchemy's ORM, pydantic models of what goes in and out.

It has the tables, answers, durability and hashing of logoadmin, for what is compared.
"""
