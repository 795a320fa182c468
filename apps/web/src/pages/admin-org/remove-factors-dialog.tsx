import { linkOf, type UserDocument } from '../../api/documents.ts'
import { CommandChoice } from '../../components/command-line.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { useChange } from '../../data/use-change.ts'
import { shellQuoted } from '../../model/commands.ts'

interface RemoveFactorsDialogProps {
  readonly user: UserDocument
  readonly org: string
  readonly onClose: () => void
}

/** For a user who lost the app and the recovery codes. */
export function RemoveFactorsDialog({ user, org, onClose }: RemoveFactorsDialogProps) {
  const { name } = user
  const account = shellQuoted(`${name}@${org}`)
  const { makeChange } = useChange()
  const confirm = (): void => {
    onClose()
    makeChange({
      href: linkOf(user, 'removeSecondFactors') ?? '',
      method: 'POST',
      success: `Removed the second factors of ${name}`,
      failure: `The second factors of ${name} were not removed`,
    })
  }
  return (
    <ConfirmDialog
      title={`Remove the second factors of ${name}`}
      action="Remove"
      icon="trash"
      onClose={onClose}
      onConfirm={confirm}
    >
      <p>
        The password alone logs in then. Make sure that it is {name} who asks for it, and not
        someone who has the password.
      </p>
      <CommandChoice skerry={`skerry user set ${account} --remove-second-factors`} />
    </ConfirmDialog>
  )
}
