import type { KeysOf } from '../../base/checks/unknown-keys.ts';

/** The keys of all members of a union. */
export type AnyKeys<Union> = Record<Union extends unknown ? keyof Union : never, true>;
/** The options that the argument at this position takes. */
export type Takes = readonly [position: number, keys: Record<string, true>];
export type Options<Method extends (...args: never) => unknown, Position extends number> = KeysOf<
  NonNullable<Parameters<Method>[Position]>
>;

/** For a method that takes no options, or that checks its options itself. */
export const none: readonly Takes[] = [];
export const page = { after: true, limit: true } as const;
export const whose = { from: true } as const;
export const owner = { tenant: true, by: true } as const;
