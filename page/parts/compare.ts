/** The diff library, loaded only when a reader opens a diff. */
import { diffArrays as arrays, diffWordsWithSpace as words, type ChangeObject } from 'diff';

/**
 * How many words or messages may differ. The search takes time with the square of these: two texts of some thousand words
 * without one in common would stop the tab for a minute.
 */
const maxDifferences = 1_000;
const bounds = { maxEditLength: maxDifferences };

/** The changes from one list to another; if too much differs, all of the one before all of the other. */
export const diffArrays = (before: string[], after: string[]): ChangeObject<string[]>[] =>
  arrays(before, after, bounds) ?? [
    { value: before, count: before.length, removed: true, added: false },
    { value: after, count: after.length, removed: false, added: true },
  ];

/** The changes from one text to another, by words; if too much differs, all of the one before all of the other. */
export const diffWordsWithSpace = (before: string, after: string): ChangeObject<string>[] =>
  words(before, after, bounds) ?? [
    { value: before, count: 1, removed: true, added: false },
    { value: after, count: 1, removed: false, added: true },
  ];
