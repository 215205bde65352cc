/**
 * A text without the differences that do not change what it says: Unicode in composed form, each run of white space as one space,
 * none at the ends. Case and punctuation stay.
 */
export const normaliseText = (text: string): string =>
  text
    .normalize('NFC')
    .replace(/\p{White_Space}+/gu, ' ')
    .replace(/^ | $/g, '');
