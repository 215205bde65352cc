/**
 * The thread a checkpoint token names, unverified: whoever alters it to pass here has a token whose signature is refused
 * afterwards.
 */
export function threadOfToken(token: unknown): string | undefined {
  if (typeof token !== 'string' || token.length > 10_000) return undefined;
  const [, payload = ''] = token.split('.');
  try {
    const { thread_id: threadId } = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Record<
      string,
      unknown
    >;
    return typeof threadId === 'string' ? threadId : undefined;
  } catch {
    return undefined;
  }
}
