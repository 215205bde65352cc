import { findFlaw } from '../../../base/checks/values.ts';
import { invalidCase } from '../invalid.ts';

const mostTags = 20;
const longestLabel = 64;
const longestNote = 4_000;

/** What a case is called besides its dataset. */
export interface CaseLabels {
  tags?: readonly string[] | undefined;
  split?: string | null | undefined;
  note?: string | null | undefined;
}

/** Checks the labels of a case, and removes repeated tags. @throws LanefoldError `invalid_input` */
export function readLabels({ tags, split, note }: CaseLabels): CaseLabels {
  if (tags !== undefined && !(Array.isArray(tags) && tags.length <= mostTags && tags.every(isLabel)))
    throw invalidCase('tags', `must be up to ${mostTags} texts of up to ${longestLabel} characters`);
  if (split != null && !isLabel(split))
    throw invalidCase('split', `must be a text of up to ${longestLabel} characters`);
  if (note != null && !(typeof note === 'string' && note.length <= longestNote))
    throw invalidCase('note', `must be a text of up to ${longestNote.toLocaleString('en')} characters`);
  const flaw = findFlaw({ tags, split, note });
  if (flaw) throw invalidCase(flaw.path.slice(2), `contains ${flaw.what}`);
  return { tags: tags && [...new Set(tags)], split, note };
}

const isLabel = (value: unknown): boolean =>
  typeof value === 'string' && value.trim() !== '' && value.length <= longestLabel;
