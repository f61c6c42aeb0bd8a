//! What stays as it is.

use std::fmt::Write;

use neco_safety::secrets::{Redactor, Scope};

pub const ORDINARY: &[&str] = &[
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "index 89e6c98d92887913cadf06b2adb97f26cde4849b..0123456789abcdef0123456789abcdef01234567 100644",
    "id: 123e4567-e89b-12d3-a456-426614174000",
    "token: 123e4567-e89b-12d3-a456-426614174000",
    "\"integrity\": \"sha512-cGHkZ6bP1oMK5t0X6iXhXxm0Pz5cWUd1lC3lRPl2m8vGZzZ9b8cT9Zp1Jw6c0F3t9e1Yw==\"",
    "checksum = \"8e60d3430d3a69478ad0993f19238d2df97c507009a52b3c10addcd7f6bcb916\"",
    "github.com/a/b v1.2.3 h1:abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP0=",
    "<img src=\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==\">",
    "!function(e,t){\"object\"==typeof exports?t(exports):t(e.token={})}(this,function(e){var t=e.secret||0;return t})",
    "const token = await getToken(request.headers.authorization);",
    "let token = self.tokens.next_token();",
    "token = process.env.GITHUB_TOKEN",
    "api_key = os.environ[\"OPENAI_API_KEY\"]",
    "password: ${{ secrets.DEPLOY_PASSWORD }}",
    "PASSWORD=$(cat /run/secrets/password)",
    "PASSWORD=`pass show x1Y2z3A4b5`",
    "password = \"\"",
    "password: string;",
    "fn password(&self) -> &str",
    "DB_PASSWORD=postgres",
    "password123",
    "password = \"password123\"",
    "password = hunter2",
    "the password is wrong",
    "SECRET_KEY=your-secret-key-goes-here-1234567890",
    "API_KEY=xxxxxxxxxxxxxxxxxxxxxxxxxxxx1234",
    "api_key: <YOUR_API_KEY_1234567890>",
    "API_KEY=changeme1234567890abcdef",
    "max_tokens = 4096",
    "token_count: 1234567890123456789",
    "tokenizer = \"Xenova/gpt-4o-mini-2024-07-18-v2\"",
    "token_type=a1B2c3D4e5F6g7H8i9J0",
    "secret_name = \"projects/1234567890/secrets/a1b2c3d4e5\"",
    "password_hash = \"0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d\"",
    "PublicKeyToken=b77a5c561934e089",
    "public_key: 0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d",
    "next_page_token: a1B2c3D4e5F6g7H8i9J0",
    "aws_access_key_id: not set",
    "credentials: same-origin",
    "credential_file=/home/me/.config/a1b2c3d4e5f6g7h8",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1234567890abcdefghijklmnopqrstuvwxyzABCD me@host",
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU\n-----END PUBLIC KEY-----",
    "if text.contains(\"-----BEGIN RSA PRIVATE KEY-----\") { return true; }",
    "grep -r 'BEGIN PRIVATE KEY' .",
    "https://github.com/a/b",
    "ssh://git@host:22/a",
    "http://proxy:3128",
    "http://host/a:b@c",
    "https://user:@host",
    "postgres://user:password@localhost/db",
    "postgres://postgres:postgres@localhost:5432/app",
    "postgres://$USER:$PASS@host/db",
    "https://${USER}:${PASS}@host/",
    "mongodb://<user>:<pass>@host",
    "redis://user:****@host",
    "/usr/bin:/opt/sk-learn-tools-2024/bin:/bin",
    "sk-learn-with-a-long-name-2024",
    "task-abcdefghij0123456789abcdefghij",
    "risk-assessment-2024-and-some-more-words",
    "ghp_",
    "AKIAshort",
    "hf_hub_download(repo_id)",
    "npm_config_registry=https://packages.example.com/",
    "npm_lifecycle_script",
    "xoxb-",
    "eyJhbGciOiJIUzI1NiJ9",
    "eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpbImEudHMiXX0=",
    "Bearer token authentication is required",
    "The basic idea is simple: authorization happens first",
    "dapi.example.com",
    "SG.header",
    "12:34:56:AA:BB",
    "[redacted: GitHub token]",
    "token=[redacted: secret]",
    "postgres://me:[redacted: password]@db",
    "async function refreshAccessToken2WithRetry(client) {}",
    "accessToken: this.config.oauth2.accessTokenFromStorage1",
    "signature=\"sha256WithRSAEncryption\"",
    "ünïcödé tökén: 漢字パスワード",
];

#[test]
fn what_is_no_secret_stays_as_it_is() {
    assert!(ORDINARY.len() >= 60, "{}", ORDINARY.len());
    let mut wrong = String::new();
    for text in ORDINARY {
        let redactor = Redactor::default();
        let found = redactor.redact(text, Scope::Outside);
        if found != *text || redactor.count() != 0 {
            writeln!(wrong, "{text:?}\n  gave {found:?}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
