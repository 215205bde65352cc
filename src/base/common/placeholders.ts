/** Blanks around a name are trimmed afterwards: a pattern that skips them on both sides takes cubic time. */
const pattern = /\{\{([^{}]*)\}\}/g;

/** The names in the `{{name}}` of a text. */
export const placeholdersIn = (text: string): string[] =>
  [...text.matchAll(pattern)].map(([, written]) => written!.trim());

/** A text without its placeholders. */
export const withoutPlaceholders = (text: string): string => text.replace(pattern, '');

/** A text with a value for each placeholder; one without a value stays. */
export const fillPlaceholders = (text: string, valueOf: (name: string) => string | undefined): string =>
  text.replace(pattern, (whole, written: string) => valueOf(written.trim()) ?? whole);
