"""Customers have the primary key of the settings, orders one of their own."""

from django.db import models

from flakeid.django import FlakeIdField


class Customer(models.Model):
    name = models.TextField()


class Order(models.Model):
    id = FlakeIdField(primary_key=True, generator="shop.ids.generator")
    customer = models.ForeignKey(Customer, on_delete=models.CASCADE)
    item = models.TextField()
