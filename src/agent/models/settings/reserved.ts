/** Headers that choose the account, the host or the framing of a request. An agent may set them, a request may not. */
const reservedHeaders = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'api-key',
  'x-api-key',
  'x-goog-api-key',
  'x-goog-user-project',
  'openai-organization',
  'openai-project',
  'host',
  'forwarded',
  'connection',
  'content-length',
  'content-type',
  'content-encoding',
  'expect',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** The first header that a request may not set. */
export const reservedHeader = (headers: Record<string, string> | undefined): string | undefined =>
  Object.keys(headers ?? {}).find((name) => {
    const lower = name.toLowerCase();
    return reservedHeaders.has(lower) || /^x-forwarded-|^x-http-method|(^|-)(token|secret|password)$/.test(lower);
  });

/**
 * Provider options that some providers copy into the body of the request. These would replace the model, context or
 * tools that the run and its log record as sent.
 */
const reservedOptions = new Set([
  'model',
  'models',
  'messages',
  'input',
  'prompt',
  'system',
  'instructions',
  'contents',
  'tools',
  'functions',
  'stream',
  'streamoptions',
  'conversation',
  'previousresponseid',
]);

/** The first provider option that would change what is sent: `openai.model`. */
export function reservedOption(options: Record<string, Record<string, unknown>> | undefined): string | undefined {
  for (const [provider, own] of Object.entries(options ?? {})) {
    const key = Object.keys(own).find((name) => reservedOptions.has(name.replace(/[_-]/g, '').toLowerCase()));
    if (key !== undefined) return `${provider}.${key}`;
  }
  return undefined;
}
