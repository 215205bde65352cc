import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import canonicalize from 'canonicalize';
import { z } from 'zod';
import { LanefoldError } from '../../../base/errors.ts';
import type { Head } from '../../../database/store/evidence/read-log.ts';

/** A head with the time it was taken and the Ed25519 signature of both, base64. */
export interface SignedHead extends Head {
  at: string;
  signature: string;
}

const Fields = z.strictObject({
  threadId: z.string(),
  tenantId: z.string(),
  first: z.string(),
  seq: z.number(),
  hash: z.string(),
  at: z.string(),
  signature: z.string(),
});

const signed = (head: Head & { at: string }): Buffer => Buffer.from(canonicalize({ lanefold: 'head', ...head })!);

/** @param key an Ed25519 private key, PEM. @throws LanefoldError `invalid_input` */
export function headSigner(key: string): (head: Head) => SignedHead {
  const secret = readKey(() => createPrivateKey(key), 'private');
  return (head) => {
    const taken = { ...head, at: new Date().toISOString() };
    return { ...taken, signature: sign(null, signed(taken), secret).toString('base64') };
  };
}

/** Checks that a head is signed by this key, given as public or private key. @throws LanefoldError `invalid_input` */
export function headVerifier(key: string): (head: unknown) => SignedHead {
  const open = readKey(() => createPublicKey(key), 'public');
  return (given) => {
    const parsed = Fields.safeParse(given);
    if (parsed.success) {
      const { signature, ...head } = parsed.data;
      if (verify(null, signed(head), open, Buffer.from(signature, 'base64'))) return parsed.data;
    }
    throw new LanefoldError(
      'invalid_input',
      `This head was not signed with this key, or was altered: ${JSON.stringify(given)?.slice(0, 200)}.`,
      {
        hint: 'Compare the file with the original export, and use the key that signed it.',
      },
    );
  };
}

function readKey<T extends { asymmetricKeyType?: string | undefined }>(read: () => T, what: string): T {
  try {
    const key = read();
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // reported by the error below
  }
  throw new LanefoldError('invalid_input', `This is not a ${what} Ed25519 key in PEM.`, {
    hint: 'Create one with `openssl genpkey -algorithm ed25519 -out seal.key`.',
  });
}
