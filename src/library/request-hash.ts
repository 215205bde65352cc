import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** Two requests with one key are the same if their canonical JSON is: hex SHA-256 of it. */
export const requestHash = (body: unknown): string =>
  createHash('sha256')
    .update(canonicalize(JSON.parse(JSON.stringify(body))) as string)
    .digest('hex');
