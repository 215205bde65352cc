import { userInfo } from 'node:os';

/** Who runs a command, for the audit. */
export const actor = (): string => `cli:${userInfo().username}`;
