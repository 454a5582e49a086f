"""Customers have the primary key of the settings, and orders have a separate one."""

from django.db import models

from flakeid.django import FlakeIdField


class Customer(models.Model):
    name = models.TextField()


class Order(models.Model):
    id = FlakeIdField(primary_key=True, generator="shop.ids.generator")
    customer = models.ForeignKey(Customer, on_delete=models.CASCADE)
    item = models.TextField()
