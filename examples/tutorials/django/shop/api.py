"""Orders as JSON, in which IDs are strings."""

from django.urls import include, path
from django.utils.dateparse import parse_datetime
from rest_framework import routers, viewsets

from flakeid.rest_framework import FlakeIdModelSerializer

from .models import Customer, Order


class CustomerSerializer(FlakeIdModelSerializer):
    class Meta:
        model = Customer
        fields = ("id", "name")


class OrderSerializer(FlakeIdModelSerializer):
    class Meta:
        model = Order
        fields = ("id", "customer", "item")


class Customers(viewsets.ModelViewSet):
    queryset = Customer.objects.order_by("id")
    serializer_class = CustomerSerializer


class Orders(viewsets.ModelViewSet):
    queryset = Order.objects.order_by("id")
    serializer_class = OrderSerializer

    def get_queryset(self):
        orders = super().get_queryset()
        since = self.request.query_params.get("since")
        return orders if since is None else orders.filter(id__created_from=parse_datetime(since))


router = routers.SimpleRouter()
router.register("customers", Customers)
router.register("orders", Orders)
urlpatterns = [path("", include(router.urls))]
