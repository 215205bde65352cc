/** A text in quotation marks, cut to 200 characters. */
export const quote = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 199)}…` : text);
