//! The formats of IDs in responses.

use flakeid_core::Id;
use hyper::HeaderMap;
use hyper::header::ACCEPT;

/// A media type for a list of IDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `{"ids":["…","…"]}`. The IDs are strings, because JavaScript cannot represent every 64-bit JSON number
    /// exactly.
    Json,
    /// One JSON object `{"id":"…"}` per line.
    Ndjson,
    /// One ID per line, in decimal digits.
    Text,
    /// 8 bytes per ID, most significant byte first.
    Octets,
}

impl Form {
    const ALL: [Self; 4] = [Self::Json, Self::Ndjson, Self::Text, Self::Octets];

    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Ndjson => "application/x-ndjson",
            Self::Text => "text/plain",
            Self::Octets => "application/octet-stream",
        }
    }

    /// Returns the first supported format in the client's `Accept` header, or JSON if the client accepts any format.
    /// Returns `None` if the client accepts no supported format.
    pub(crate) fn accepted(headers: &HeaderMap) -> Option<Self> {
        let mut named = headers.get_all(ACCEPT).iter().peekable();
        if named.peek().is_none() {
            return Some(Self::Json);
        }
        let values = named.filter_map(|value| value.to_str().ok());
        values.flat_map(|text| text.split(',')).find_map(|range| {
            let mut parts = range.split(';').map(str::trim);
            let media_type = parts.next()?;
            let is_refused = parts.any(|part| part.strip_prefix("q=").is_some_and(is_zero));
            match media_type {
                _ if is_refused => None,
                "*/*" | "application/*" => Some(Self::Json),
                "text/*" => Some(Self::Text),
                _ => Self::ALL.into_iter().find(|form| form.media_type() == media_type),
            }
        })
    }

    pub(crate) const fn before(self) -> &'static str {
        match self {
            Self::Json => "{\"ids\":[",
            _ => "",
        }
    }

    pub(crate) const fn after(self) -> &'static str {
        match self {
            Self::Json => "]}\n",
            _ => "",
        }
    }

    /// Appends IDs to `out` in this format. `is_first` must be true for the first IDs in a response.
    pub(crate) fn write(self, ids: &[Id], is_first: bool, out: &mut Vec<u8>) {
        let mut digits = itoa::Buffer::new();
        let (open, close): (&[u8], &[u8]) = match self {
            Self::Octets => {
                out.extend(ids.iter().flat_map(|id| id.to_be_bytes()));
                return;
            }
            Self::Text => (b"", b"\n"),
            Self::Ndjson => (b"{\"id\":\"", b"\"}\n"),
            Self::Json => (b",\"", b"\""),
        };
        // No comma precedes the first ID of a list.
        let mut skipped = usize::from(is_first && self == Self::Json);
        for id in ids {
            out.extend_from_slice(&open[std::mem::take(&mut skipped)..]);
            out.extend_from_slice(digits.format(id.to_u64()).as_bytes());
            out.extend_from_slice(close);
        }
    }

    /// Returns the whole body of a response with the given IDs.
    pub(crate) fn whole(self, ids: &[Id]) -> Vec<u8> {
        let mut out = Vec::with_capacity(ids.len() * self.longest() + 16);
        out.extend_from_slice(self.before().as_bytes());
        self.write(ids, true, &mut out);
        out.extend_from_slice(self.after().as_bytes());
        out
    }

    /// Returns the maximum number of bytes per ID, for use as the size of a buffer.
    pub(crate) const fn longest(self) -> usize {
        match self {
            Self::Octets => 8,
            Self::Text => 21,
            Self::Json => 23,
            Self::Ndjson => 30,
        }
    }
}

fn is_zero(quality: &str) -> bool {
    quality.parse().is_ok_and(|quality: f32| quality <= 0.0)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    #[test]
    fn accept_header_selects_the_first_supported_media_type() {
        let accepted = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT, HeaderValue::from_static(text));
            Form::accepted(&headers)
        };
        assert_eq!(Form::accepted(&HeaderMap::new()), Some(Form::Json));
        assert_eq!(accepted("*/*"), Some(Form::Json));
        assert_eq!(accepted("text/html, text/plain;q=0.5"), Some(Form::Text));
        assert_eq!(accepted("application/octet-stream"), Some(Form::Octets));
        assert_eq!(accepted("application/json;q=0, application/x-ndjson"), Some(Form::Ndjson));
        assert_eq!(accepted("image/png"), None);
        assert_eq!(accepted(""), None);
    }

    #[test]
    fn ids_written_in_pieces_form_one_list() {
        let ids = [Id::from_u64(1), Id::from_u64(u64::MAX)];
        for (form, written) in [
            (Form::Json, &b"{\"ids\":[\"1\",\"18446744073709551615\",\"1\"]}\n"[..]),
            (Form::Text, b"1\n18446744073709551615\n1\n"),
            (Form::Ndjson, b"{\"id\":\"1\"}\n{\"id\":\"18446744073709551615\"}\n{\"id\":\"1\"}\n"),
        ] {
            let mut out = form.before().as_bytes().to_vec();
            form.write(&ids, true, &mut out);
            form.write(&ids[..1], false, &mut out);
            out.extend_from_slice(form.after().as_bytes());
            assert_eq!(out, written, "{form:?}");
            assert!(out.len() <= 3 * form.longest() + 12);
        }
        let mut out = Vec::new();
        Form::Octets.write(&ids, true, &mut out);
        assert_eq!(out, [0, 0, 0, 0, 0, 0, 0, 1, 255, 255, 255, 255, 255, 255, 255, 255]);
    }
}
