import { Button } from '../../components/button.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { Dialog } from '../../components/dialog.tsx'

interface RecoveryCodesDialogProps {
  readonly codes: readonly string[]
  readonly onClose: () => void
}

/** The only time that they are shown. */
export const RecoveryCodesDialog = ({ codes, onClose }: RecoveryCodesDialogProps) => (
  <Dialog
    title="Recovery codes"
    onClose={onClose}
    footer={
      <Button tone="primary" onClick={onClose}>
        I have kept them
      </Button>
    }
  >
    <p>
      Each logs you in once, beside your password, if your app or your passkey is lost. Copy them
      now, and keep them elsewhere. They are not shown again.
    </p>
    <CommandLine prompt="" wraps text={codes.join('\n')} />
  </Dialog>
)
