/** The model of the assistant: scripted and offline, without an API key. */
export const demoModel = 'scripted:demo';
