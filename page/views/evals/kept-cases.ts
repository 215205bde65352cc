import type { Case } from '../../api/types.ts';

/** The beginning of its question, and the part of the dataset that it belongs to. */
export type KeptCase = Pick<Case, 'question' | 'split'>;

/** The cases of a dataset by their ids. */
export type Cases = ReadonlyMap<string, KeptCase>;
