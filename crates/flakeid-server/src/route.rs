//! Parses the paths of requests, and defines the methods and permissions of each path.

use hyper::Method;

use crate::tokens::{Need, Scope};

/// A path that the server supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route<'a> {
    OfNamespace { namespace: &'a str, resource: Resource<'a> },
    Live,
    Ready,
    Metrics,
    OpenApi,
    Page,
}

/// A resource of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource<'a> {
    Ids,
    Id(&'a str),
    Holder(&'a str),
    Bounds,
    Layout,
    Leases,
    Lease(&'a str),
}

impl<'a> Route<'a> {
    /// Parses a path. Each resource has exactly one path, because percent-encoding is not decoded,
    /// and empty or dot segments are not resolved.
    pub(crate) fn parse(path: &'a str) -> Option<Self> {
        Some(match path {
            "/livez" => Self::Live,
            "/readyz" => Self::Ready,
            "/metrics" => Self::Metrics,
            "/openapi.json" => Self::OpenApi,
            "/ui" => Self::Page,
            _ => {
                let mut parts = path.strip_prefix("/v1/")?.split('/');
                let (namespace, resource) = (parts.next()?, parts.next()?);
                let (last, of_it) = (parts.next(), parts.next());
                if namespace.is_empty() || parts.next().is_some() {
                    return None;
                }
                let resource = match (resource, last, of_it) {
                    ("ids", None, None) => Resource::Ids,
                    ("ids", Some(id), None) if !id.is_empty() => Resource::Id(id),
                    ("ids", Some(id), Some("holder")) if !id.is_empty() => Resource::Holder(id),
                    ("bounds", None, None) => Resource::Bounds,
                    ("layout", None, None) => Resource::Layout,
                    ("leases", None, None) => Resource::Leases,
                    ("leases", Some(node), None) if !node.is_empty() => Resource::Lease(node),
                    _ => return None,
                };
                Self::OfNamespace { namespace, resource }
            }
        })
    }

    /// Returns the operation's name in metrics. The set of names is fixed, so requests for
    /// arbitrary paths do not increase the number of metrics.
    pub(crate) const fn operation(&self) -> &'static str {
        match self {
            Self::OfNamespace { resource: Resource::Ids, .. } => "ids",
            Self::OfNamespace { resource: Resource::Id(_), .. } => "inspect",
            Self::OfNamespace { resource: Resource::Holder(_), .. } => "whois",
            Self::OfNamespace { resource: Resource::Bounds, .. } => "bounds",
            Self::OfNamespace { resource: Resource::Layout, .. } => "layout",
            Self::OfNamespace { resource: Resource::Leases | Resource::Lease(_), .. } => "leases",
            Self::Live | Self::Ready => "health",
            Self::Metrics => "metrics",
            Self::OpenApi => "openapi",
            Self::Page => "page",
        }
    }

    /// Whether requests to the path issue IDs. These requests must use POST, because a cache could
    /// send the same GET response to two clients.
    pub(crate) const fn issues(&self) -> bool {
        matches!(self, Self::OfNamespace { resource: Resource::Ids, .. })
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.allowed() == "GET, HEAD"
    }

    /// Returns the methods that the path supports, in the format of an `Allow` header.
    pub(crate) const fn allowed(&self) -> &'static str {
        match self {
            Self::OfNamespace { resource: Resource::Ids, .. } => "POST",
            Self::OfNamespace { resource: Resource::Leases, .. } => "GET, HEAD, POST",
            Self::OfNamespace { resource: Resource::Lease(_), .. } => "PATCH, DELETE",
            _ => "GET, HEAD",
        }
    }

    pub(crate) fn allows(&self, method: &Method) -> bool {
        self.allowed().split(", ").any(|allowed| method == allowed)
    }

    /// Returns the permission that a request to the path requires, or `None` if the path is public.
    pub(crate) fn need(&self, method: &Method) -> Option<Need<'a>> {
        let is_write = matches!(*method, Method::POST | Method::PATCH | Method::DELETE);
        Some(match *self {
            Self::Live | Self::Ready | Self::Page => return None,
            Self::Metrics => Need::Scope(Scope::Metrics, None),
            Self::OpenApi => Need::Known,
            Self::OfNamespace { namespace, resource } => match resource {
                Resource::Ids => Need::Scope(Scope::Ids, Some(namespace)),
                Resource::Leases if !is_write => Need::Scope(Scope::Read, Some(namespace)),
                Resource::Leases | Resource::Lease(_) => {
                    Need::Scope(Scope::Leases, Some(namespace))
                }
                Resource::Holder(_) => Need::Scope(Scope::Read, Some(namespace)),
                Resource::Id(_) | Resource::Bounds | Resource::Layout => Need::Some(namespace),
            },
        })
    }

    /// Whether the path is accessible without a token. Health checks and browsers do not send a
    /// token. The web page can be public, because the page does not contain any data of this
    /// server.
    pub(crate) const fn is_public(&self) -> bool {
        matches!(self, Self::Live | Self::Ready | Self::Page)
    }
}

#[cfg(test)]
mod tests {
    use super::{Method, Resource, Route};

    #[test]
    fn route_parser_accepts_only_exactly_matching_paths() {
        let of = |namespace, resource| Some(Route::OfNamespace { namespace, resource });
        for (path, route) in [
            ("/v1/orders/ids", of("orders", Resource::Ids)),
            ("/v1/a.b/ids/17", of("a.b", Resource::Id("17"))),
            ("/v1/orders/bounds", of("orders", Resource::Bounds)),
            ("/readyz", Some(Route::Ready)),
            ("/ui", Some(Route::Page)),
            ("/ui/", None),
            ("/v1//ids", None),
            ("/v1/orders/ids/", None),
            ("/v1/orders/ids/1/2", None),
            ("/v1/orders/ids/17/holder", of("orders", Resource::Holder("17"))),
            ("/v1/orders/ids/17/holder/", None),
            ("/v1/orders/ids//holder", None),
            ("/v1/orders/leases/7/holder", None),
            ("/v1/orders/leases", of("orders", Resource::Leases)),
            ("/v1/orders/leases/7", of("orders", Resource::Lease("7"))),
            ("/v1/orders/leases/7/8", None),
            ("/v1/orders/layout/", None),
            ("/v1/orders", None),
            ("//v1/orders/ids", None),
            ("/V1/orders/ids", None),
            ("/v1/../livez", None),
            ("/", None),
            ("*", None),
        ] {
            assert_eq!(Route::parse(path), route, "{path}");
        }
    }

    #[test]
    fn routes_allow_only_their_own_http_methods() {
        let allowed = |path| {
            let methods = [Method::GET, Method::HEAD, Method::POST, Method::PATCH, Method::DELETE];
            let route = Route::parse(path);
            methods.map(|method| route.is_some_and(|route| route.allows(&method)))
        };
        assert_eq!(allowed("/v1/a/ids"), [false, false, true, false, false]);
        assert_eq!(allowed("/v1/a/leases"), [true, true, true, false, false]);
        assert_eq!(allowed("/v1/a/leases/7"), [false, false, false, true, true]);
        assert_eq!(allowed("/livez"), [true, true, false, false, false]);
    }
}
