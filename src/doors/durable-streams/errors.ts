import { LanefoldError, type ErrorCode } from '../../base/errors.ts';

export const invalid = (message: string, hint: string): LanefoldError =>
  new LanefoldError('invalid_input', message, { hint });

/** An error whose response has these headers. */
export const withHeaders = (
  code: ErrorCode,
  message: string,
  hint: string,
  headers: Record<string, string>,
): LanefoldError => new LanefoldError(code, message, { hint, details: { headers } });

export const streamNotFound = (name: string): LanefoldError =>
  new LanefoldError('stream_not_found', `There is no stream ${name}, or it has expired.`, {
    hint: 'Create it with PUT.',
  });

export const streamDeleted = (name: string): LanefoldError =>
  new LanefoldError('stream_deleted', `Stream ${name} was deleted. Forks still need its data, so its name is taken.`, {
    hint: 'Use another name, or delete its forks first.',
  });

export const beyondTail = (): LanefoldError =>
  invalid('The offset is beyond the end of the stream.', 'Read from -1: the stream may have been created again.');
