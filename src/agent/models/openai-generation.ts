/**
 * Matches OpenAI's models from GPT-5.6 on, which accept cache breakpoints and count images differently from earlier
 * ones.
 */
export const sinceGpt56 = /^gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)/;
