//! Signature Version 4, which authenticates requests to Amazon Web Services.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use flakeid_core::Rfc3339;
use ring::{digest, hmac};

use super::credentials::Credentials;
use super::encoding::{encode, hex};

/// A request to be signed.
pub(crate) struct Signed<'a> {
    pub(crate) region: &'a str,
    /// The service, such as `s3`.
    pub(crate) service: &'a str,
    pub(crate) method: &'a str,
    /// The host and the port, as sent in the `Host` header.
    pub(crate) host: &'a str,
    /// The encoded path, which begins with a slash.
    pub(crate) path: &'a str,
    /// The query parameters, not encoded.
    pub(crate) query: &'a [(&'a str, &'a str)],
    /// Additional headers to sign, with names in lowercase.
    pub(crate) headers: &'a [(&'a str, String)],
    pub(crate) body: &'a str,
}

impl Signed<'_> {
    /// Returns the query as sent, without the question mark.
    pub(crate) fn query(&self) -> String {
        let mut pairs: Vec<String> = self
            .query
            .iter()
            .map(|(name, value)| format!("{}={}", encode(name, false), encode(value, false)))
            .collect();
        pairs.sort_unstable();
        pairs.join("&")
    }

    /// Returns the headers to send, with the signature.
    pub(crate) fn headers(&self, credentials: &Credentials) -> Vec<(&'static str, String)> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        self.headers_at(credentials, &timestamp(now))
    }

    fn headers_at(&self, credentials: &Credentials, time: &str) -> Vec<(&'static str, String)> {
        let hash = hex(digest::digest(&digest::SHA256, self.body.as_bytes()).as_ref());
        let mut added = vec![("x-amz-date", time.to_owned())];
        if self.service == "s3" {
            added.push(("x-amz-content-sha256", hash.clone()));
        }
        if let Some(token) = &credentials.session_token {
            added.push(("x-amz-security-token", token.clone()));
        }
        let mut signed: Vec<(&str, &str)> = vec![("host", self.host)];
        signed.extend(added.iter().map(|(name, value)| (*name, value.as_str())));
        signed.extend(self.headers.iter().map(|(name, value)| (*name, value.as_str())));
        signed.sort_unstable();
        let mut canonical = format!("{}\n{}\n{}\n", self.method, self.path, self.query());
        for (name, value) in &signed {
            let _ = writeln!(canonical, "{name}:{}", value.trim());
        }
        let names: Vec<&str> = signed.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let _ = write!(canonical, "\n{names}\n{hash}");

        let day = &time[..8];
        let scope = format!("{day}/{}/{}/aws4_request", self.region, self.service);
        let canonical = hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
        let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{canonical}");
        let mut key = format!("AWS4{}", credentials.secret_key).into_bytes();
        for part in [day, self.region, self.service, "aws4_request", &to_sign] {
            let secret = hmac::Key::new(hmac::HMAC_SHA256, &key);
            key = hmac::sign(&secret, part.as_bytes()).as_ref().to_vec();
        }
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={}",
            credentials.key_id,
            hex(&key)
        );
        added.push(("authorization", authorization));
        added
    }
}

/// Formats an instant in Unix seconds as `YYYYMMDDThhmmssZ`.
fn timestamp(seconds: u64) -> String {
    let unix_ms = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000);
    Rfc3339::new(unix_ms, 0).to_string().replace(['-', ':'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(token: Option<&str>) -> Credentials {
        Credentials {
            key_id: "AKIDEXAMPLE".into(),
            secret_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
            session_token: token.map(str::to_owned),
        }
    }

    /// The cases `get-vanilla-query-order-key-case` and `post-x-www-form-urlencoded` of the test suite that Amazon
    /// publishes for Signature Version 4.
    #[test]
    fn signatures_equal_those_of_the_published_test_suite() {
        let get = Signed {
            region: "us-east-1",
            service: "service",
            method: "GET",
            host: "example.amazonaws.com",
            path: "/",
            query: &[("Param2", "value2"), ("Param1", "value1")],
            headers: &[],
            body: "",
        };
        let headers = [("content-type", "application/x-www-form-urlencoded".to_owned())];
        let post =
            Signed { method: "POST", query: &[], headers: &headers, body: "Param1=value1", ..get };
        for (request, signature) in [
            (&get, "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
            (&post, "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"),
        ] {
            let headers = request.headers_at(&credentials(None), "20150830T123600Z");
            let (_, authorization) = &headers[headers.len() - 1];
            assert!(authorization.ends_with(signature), "{authorization}");
        }
    }

    #[test]
    fn session_tokens_and_payloads_are_signed_for_s3() {
        let put = Signed {
            region: "eu-west-1",
            service: "s3",
            method: "PUT",
            host: "bucket.s3.eu-west-1.amazonaws.com",
            path: "/a%20b",
            query: &[],
            headers: &[("if-match", "\"1\"".to_owned())],
            body: "{}",
        };
        let headers = put.headers(&credentials(Some("session")));
        let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
        let sent = ["x-amz-date", "x-amz-content-sha256", "x-amz-security-token", "authorization"];
        assert_eq!(names, sent);
        let signed =
            "SignedHeaders=host;if-match;x-amz-content-sha256;x-amz-date;x-amz-security-token,";
        assert!(headers[3].1.contains(signed), "{}", headers[3].1);
    }

    #[test]
    fn instants_are_formatted_as_basic_iso_8601() {
        for (seconds, text) in [
            (0, "19700101T000000Z"),
            (951_868_799, "20000229T235959Z"),
            (951_868_800, "20000301T000000Z"),
            (1_440_938_160, "20150830T123600Z"),
            (2_366_798_400, "20441231T120000Z"),
        ] {
            assert_eq!(timestamp(seconds), text);
        }
    }
}
