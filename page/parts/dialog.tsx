import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { useSignal } from '@preact/signals';
import { Failure } from './basics.tsx';

/** A button that opens a form. The form closes once `onSubmit` has succeeded; what it throws is shown in it. */
export function DialogButton({
  title,
  button,
  submit,
  kind = '',
  children,
  onSubmit,
}: {
  title: string;
  button: string;
  submit: string;
  kind?: string;
  children: ComponentChildren;
  onSubmit: (fields: FormData) => Promise<void>;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const error = useSignal<Error | undefined>(undefined);
  const busy = useSignal(false);
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    busy.value = true;
    error.value = undefined;
    try {
      await onSubmit(new FormData(event.currentTarget as HTMLFormElement));
      dialog.current?.close();
    } catch (caught) {
      error.value = caught as Error;
    } finally {
      busy.value = false;
    }
  };
  return (
    <>
      <button type="button" class={kind} onClick={() => dialog.current?.showModal()}>
        {button}
      </button>
      <dialog ref={dialog} aria-label={title}>
        <form onSubmit={(event) => void send(event as unknown as SubmitEvent)}>
          <h2>{title}</h2>
          {children}
          <Failure error={error.value} />
          <div class="actions">
            <button type="button" onClick={() => dialog.current?.close()}>
              Close
            </button>
            <button type="submit" class="primary" disabled={busy.value}>
              {submit}
            </button>
          </div>
        </form>
      </dialog>
    </>
  );
}
