/** Control characters a terminal may act on; tabs and line breaks are harmless. */
const control = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** Makes text of models, tools and users safe to print: control characters become U+FFFD. */
export const printable = (text: string): string => text.replace(/\r\n/g, '\n').replace(control, '\ufffd');

/** The same, on one line. */
export const oneLine = (text: string): string =>
  printable(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .join(' '),
  );
