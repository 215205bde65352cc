const { OPENAI_API_KEY, OPENAI_BASE_URL, ANTHROPIC_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY, LANEFOLD_MODEL } =
  process.env;

/** The examples' model: LANEFOLD_MODEL, or one from a provider whose key is set, or one that answers offline. */
export const model =
  LANEFOLD_MODEL ||
  (OPENAI_API_KEY && !OPENAI_BASE_URL && 'openai:gpt-5-mini') ||
  (ANTHROPIC_API_KEY && 'anthropic:claude-haiku-4-5') ||
  (GOOGLE_GENERATIVE_AI_API_KEY && 'google:gemini-2.5-flash') ||
  'scripted:demo';
