/**
 * A session for the OpenAI Agents SDK on the log of Lanefold.
 *
 * @module openai-agents
 */
export { LanefoldSession, type LanefoldSessionOptions } from './session.ts';
