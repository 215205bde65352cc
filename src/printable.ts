/** Everything a terminal may take for a command, and neither a tab nor a line break. */
const control = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** Text of models, tools and users as people may be shown it: U+FFFD stands for what would move or recolour their terminal. */
export const printable = (text: string): string => text.replace(/\r\n/g, '\n').replace(control, '\ufffd');

export const oneLine = (text: string): string => printable(text.replace(/\s*\n\s*/g, ' ').trim());
