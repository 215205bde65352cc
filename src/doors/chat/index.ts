/**
 * A chat route for `useChat` of the AI SDK.
 *
 * @module chat
 */
export { createChatHandler, type ChatHandler, type ChatOptions } from './handler.ts';
export type { ChatAuthorization, ChatGrant, ChatVerdict, ChatAction, ChatRequest } from './request.ts';
export type { AnswerMetadata, UiMessage, UiPart, UiToolPart } from '../../runs/formats/ui-messages/message.ts';
