//! What a path asks for.

use hyper::Method;

/// A resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route<'a> {
    Ids { namespace: &'a str },
    Id { namespace: &'a str, id: &'a str },
    Bounds { namespace: &'a str },
    Layout { namespace: &'a str },
    Live,
    Ready,
    Metrics,
    OpenApi,
}

impl<'a> Route<'a> {
    /// No path has a form that stands for another: what is percent-encoded, doubled or dotted is
    /// not found.
    pub(crate) fn parse(path: &'a str) -> Option<Self> {
        Some(match path {
            "/livez" => Self::Live,
            "/readyz" => Self::Ready,
            "/metrics" => Self::Metrics,
            "/openapi.json" => Self::OpenApi,
            _ => {
                let mut parts = path.strip_prefix("/v1/")?.split('/');
                let (namespace, resource) = (parts.next()?, parts.next()?);
                let last = parts.next();
                if namespace.is_empty() || parts.next().is_some() {
                    return None;
                }
                match (resource, last) {
                    ("ids", None) => Self::Ids { namespace },
                    ("ids", Some(id)) if !id.is_empty() => Self::Id { namespace, id },
                    ("bounds", None) => Self::Bounds { namespace },
                    ("layout", None) => Self::Layout { namespace },
                    _ => return None,
                }
            }
        })
    }

    /// For metrics: few words, whatever clients ask for.
    pub(crate) const fn operation(&self) -> &'static str {
        match self {
            Self::Ids { .. } => "ids",
            Self::Id { .. } => "inspect",
            Self::Bounds { .. } => "bounds",
            Self::Layout { .. } => "layout",
            Self::Live | Self::Ready => "health",
            Self::Metrics => "metrics",
            Self::OpenApi => "openapi",
        }
    }

    /// The methods that it has, as in an `Allow` header.
    pub(crate) const fn allowed(&self) -> &'static str {
        match self {
            Self::Ids { .. } => "POST",
            _ => "GET, HEAD",
        }
    }

    pub(crate) fn allows(&self, method: &Method) -> bool {
        match self {
            Self::Ids { .. } => method == Method::POST,
            _ => method == Method::GET || method == Method::HEAD,
        }
    }

    /// Whether anybody may ask. The health of a server is asked for by what has no token.
    pub(crate) const fn is_public(&self) -> bool {
        matches!(self, Self::Live | Self::Ready)
    }
}

#[cfg(test)]
mod tests {
    use super::Route;

    #[test]
    fn paths() {
        let ids = Route::Ids { namespace: "orders" };
        let one = Route::Id { namespace: "a.b", id: "17" };
        for (path, route) in [
            ("/v1/orders/ids", Some(ids)),
            ("/v1/a.b/ids/17", Some(one)),
            ("/v1/orders/bounds", Some(Route::Bounds { namespace: "orders" })),
            ("/readyz", Some(Route::Ready)),
            ("/v1//ids", None),
            ("/v1/orders/ids/", None),
            ("/v1/orders/ids/1/2", None),
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
}
