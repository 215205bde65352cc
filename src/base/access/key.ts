import { createHash, randomBytes } from 'node:crypto';
import { newId } from '../checks/ids.ts';

/** `lfk_<id>_<secret>`: the id finds the key, the secret (43 characters of base64url, 256 bits) proves it. */
const grammar = /^lfk_([0-9a-v]{26})_([A-Za-z0-9_-]{43})$/;

export interface KeyText {
  id: string;
  secret: string;
}

/** A new key: the text, which is shown once, and the hash that is stored. */
export function newKey(id = newId('key')): { id: string; text: string; hash: Buffer } {
  const secret = randomBytes(32).toString('base64url');
  return { id, text: `lfk_${id.slice('key_'.length)}_${secret}`, hash: hashOf(secret) };
}

/** The parts of a key, or undefined for any other text. */
export function readKey(text: string): KeyText | undefined {
  const [, id, secret] = grammar.exec(text) ?? [];
  return id && secret ? { id: `key_${id}`, secret } : undefined;
}

/** A secret has as many random bits as its hash, so a slow hash would add no protection. */
export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();
