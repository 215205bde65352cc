/**
 * A route for clients of AG-UI.
 *
 * @module ag-ui
 */
export {
  createAgUiHandler,
  type AgUiHandler,
  type AgUiOptions,
  type AgUiAuthorization,
  type AgUiClientRequest,
  type AgUiGrant,
  type AgUiVerdict,
} from './handler.ts';
export type { AgUiInput, AgUiResume } from '../../../runs/formats/ag-ui/content.ts';
export type { AgUiMessage, AgUiPart, AgUiSource, AgUiToolCall } from '../../../runs/formats/ag-ui/event.ts';
