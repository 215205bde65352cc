/** The model of the assistant: offline, scripted, without a key. */
export const demoModel = 'scripted:demo';
