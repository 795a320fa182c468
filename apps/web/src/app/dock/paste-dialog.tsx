import type { ScreenView } from '@skerry/screen/page/screen'
import { useState } from 'react'

import { Button } from '../../components/button.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { TextArea } from '../../components/field.tsx'
import { consoleWords } from '../../text/console.ts'

interface PasteDialogProps {
  readonly screen: ScreenView | undefined
  /** The last text that was copied in the guest. */
  readonly copied: string
  readonly onClose: () => void
}

/** Text for the guest, and text of the guest. */
export function PasteDialog({ screen, copied, onClose }: PasteDialogProps) {
  const [text, setText] = useState('')
  const send = (run: (to: ScreenView) => void): void => {
    onClose()
    if (screen) run(screen)
  }
  const empty = text === '' ? 'there is no text' : undefined
  return (
    <FormDialog
      title={consoleWords.paste}
      onClose={onClose}
      onSubmit={() => send((to) => void to.type(text))}
      action={consoleWords.type}
      cancel={consoleWords.cancel}
      unavailable={empty}
      others={
        <Button unavailable={empty} onClick={() => send((to) => to.paste(text))}>
          {consoleWords.toClipboard}
        </Button>
      }
    >
      <TextArea
        label={consoleWords.toGuest}
        hint={consoleWords.typing}
        rows={4}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {copied !== '' && (
        <TextArea label={consoleWords.fromGuest} rows={3} readOnly value={copied} />
      )}
    </FormDialog>
  )
}
