import { LanefoldError } from '../../base/errors.ts';

/** Where a recording is invalid. Indices count from 0, lines and columns from 1. */
export interface Position {
  line?: number;
  column?: number;
  conversation?: number;
  message?: number;
}

/** The error for an invalid recording, with the position in its message and in `details`. */
export function invalidRecording(file: string, position: Position, why: string, hint?: string): LanefoldError {
  const where = [
    position.line === undefined ? undefined : `line ${position.line}, column ${position.column}`,
    position.conversation === undefined ? undefined : `conversation ${position.conversation}`,
    position.message === undefined ? undefined : `message ${position.message}`,
  ].filter((part) => part !== undefined);
  return new LanefoldError('invalid_input', `${[file, ...where].join(', ')}: ${why}.`, {
    hint: hint ?? 'A recording is a JSON array of {"traj": [OpenAI chat messages]}.',
    details: { file, ...position },
  });
}
