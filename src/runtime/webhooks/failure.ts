/** What a failed connection means, by its code. */
const meanings: Record<string, string> = {
  ECONNREFUSED: 'The receiver refused the connection',
  ECONNRESET: 'The receiver ended the connection',
  EPIPE: 'The receiver ended the connection',
  ETIMEDOUT: 'The receiver did not accept the connection in time',
  EHOSTUNREACH: 'The receiver cannot be reached',
  ENETUNREACH: 'The receiver cannot be reached',
};

/** Why a request got no answer: {code, message}. */
export function failureOf(error: unknown): { code: string; message: string } {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (/CERT|SIGNATURE|^SELF_SIGNED|_CHAIN|^ERR_TLS|^UNABLE_TO/.test(code))
    return { code: 'certificate', message: `The certificate of the receiver is not accepted: ${message} (${code}).` };
  if (/^ERR_SSL|^EPROTO/.test(code))
    return { code: 'tls', message: `The receiver does not speak TLS as expected (${code}).` };
  return { code: 'connection', message: `${meanings[code] ?? 'The connection failed'} (${code || message}).` };
}
