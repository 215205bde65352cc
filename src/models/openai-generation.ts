/** Names of OpenAI's models from GPT-5.6 on, which take cache breakpoints and count images in another way than those before. */
export const sinceGpt56 = /^gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)/;
