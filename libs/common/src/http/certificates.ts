/** The certificate authorities of the system, which git and curl trust and Node does not read. */
import { readFileSync } from 'node:fs';
import { orElse } from '../foundation/attempt.ts';
import type { Env } from '../foundation/io.ts';

/** Where distributions keep them in one file. */
const FILES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** A chain that ends at an authority which is not known. */
const UNKNOWN_AUTHORITY = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** What an operator does about an authority that is not known. */
export const ADD_AUTHORITY =
  "add the certificate of its authority to the system's store (update-ca-certificates)";

/** Whether a code of a TLS error means that another authority might verify the server. */
export function isUnknownAuthority(code: string | undefined): boolean {
  return code !== undefined && UNKNOWN_AUTHORITY.has(code);
}

/** The authorities that git uses, as PEM: those of the environment, else the system's; undefined if there are none. */
export function systemAuthorities({ GIT_SSL_CAINFO, SSL_CERT_FILE }: Env): string | undefined {
  for (const file of [GIT_SSL_CAINFO, SSL_CERT_FILE, ...FILES]) {
    const text = file && orElse(() => readFileSync(file, 'utf8'), undefined);
    if (text) return text;
  }
  return undefined;
}
