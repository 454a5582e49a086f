//! What a path asks for.

use hyper::Method;

/// A path that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route<'a> {
    OfNamespace { namespace: &'a str, resource: Resource<'a> },
    Live,
    Ready,
    Metrics,
    OpenApi,
}

/// What there is of each namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resource<'a> {
    Ids,
    Id(&'a str),
    Bounds,
    Layout,
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
                let resource = match (resource, last) {
                    ("ids", None) => Resource::Ids,
                    ("ids", Some(id)) if !id.is_empty() => Resource::Id(id),
                    ("bounds", None) => Resource::Bounds,
                    ("layout", None) => Resource::Layout,
                    _ => return None,
                };
                Self::OfNamespace { namespace, resource }
            }
        })
    }

    /// For metrics: few words, whatever clients ask for.
    pub(crate) const fn operation(&self) -> &'static str {
        match self {
            Self::OfNamespace { resource: Resource::Ids, .. } => "ids",
            Self::OfNamespace { resource: Resource::Id(_), .. } => "inspect",
            Self::OfNamespace { resource: Resource::Bounds, .. } => "bounds",
            Self::OfNamespace { resource: Resource::Layout, .. } => "layout",
            Self::Live | Self::Ready => "health",
            Self::Metrics => "metrics",
            Self::OpenApi => "openapi",
        }
    }

    /// Whether it makes something, and is for `POST` only; everything else is only read.
    pub(crate) const fn issues(&self) -> bool {
        matches!(self, Self::OfNamespace { resource: Resource::Ids, .. })
    }

    /// The methods that it has, as in an `Allow` header.
    pub(crate) const fn allowed(&self) -> &'static str {
        if self.issues() { "POST" } else { "GET, HEAD" }
    }

    pub(crate) fn allows(&self, method: &Method) -> bool {
        if self.issues() {
            method == Method::POST
        } else {
            method == Method::GET || method == Method::HEAD
        }
    }

    /// Whether anybody may ask. Whatever watches a server's health has no token.
    pub(crate) const fn is_public(&self) -> bool {
        matches!(self, Self::Live | Self::Ready)
    }
}

#[cfg(test)]
mod tests {
    use super::{Resource, Route};

    #[test]
    fn paths() {
        let of = |namespace, resource| Some(Route::OfNamespace { namespace, resource });
        for (path, route) in [
            ("/v1/orders/ids", of("orders", Resource::Ids)),
            ("/v1/a.b/ids/17", of("a.b", Resource::Id("17"))),
            ("/v1/orders/bounds", of("orders", Resource::Bounds)),
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
