import { useState } from 'react'
import { Link, useNavigate, useParams } from 'react-router'

import { idOf, pathOf } from '../../api/client.ts'
import { linkOf } from '../../api/documents.ts'
import type { SecurityGroupDocument } from '../../api/security-group-documents.ts'
import { ConflictDialog } from '../../app/networks/conflict-dialog.tsx'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { Button } from '../../components/button.tsx'
import { Card, Facts } from '../../components/card.tsx'
import { CommandChoice, CommandLine } from '../../components/command-line.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { useGroupChange } from '../../data/networks/use-group-change.ts'
import { useSession } from '../../data/session.ts'
import { useChange } from '../../data/use-change.ts'
import { useDocument } from '../../data/use-documents.ts'
import { curlCommand, shellQuoted } from '../../model/commands.ts'
import { removeGroupCommand } from '../../model/networks/network-commands.ts'
import { groupLabelsOf, isLimited, labelText } from '../../model/networks/security-group.ts'
import { en } from '../../text/en.ts'
import { formatCount } from '../../text/format.ts'
import { EditDialog } from './edit-dialog.tsx'
import type { GroupPartProps } from './group-part.ts'
import { RulesCard } from './rules-card.tsx'

import page from '../../styles/page.module.css'

export function SecurityGroupPage() {
  const id = useParams()['group'] ?? ''
  const { data, error, refetch } = useDocument<SecurityGroupDocument>(
    `/api/admin/securityGroup/${id}`,
  )
  usePageTitle({ text: 'Security groups', to: paths.securityGroups }, { text: data?.name ?? '…' })
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <div className={page['page']} aria-busy="true" />
  return <Group key={data.href} group={data} />
}

function Group({ group }: { readonly group: SecurityGroupDocument }) {
  const { role } = useSession()
  const { send, isPending, conflict, leave } = useGroupChange()
  const unavailable =
    linkOf(group, 'edit') === undefined
      ? en.missingRight(role, 'network:edit')
      : isPending
        ? 'a change is being sent'
        : undefined
  const part: GroupPartProps = {
    group,
    unavailable,
    onChange: (wanted, seen = group) => send(seen, wanted),
  }
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <Header {...part} />
      <div className={page['columns']}>
        <div className={page['stack']}>
          <RulesCard {...part} direction="in" />
          <RulesCard {...part} direction="out" />
          <MembersCard group={group} />
        </div>
        <div className={page['stack']}>
          <DetailsCard group={group} />
          <Card title="On a terminal">
            <div className={page['stack']}>
              <CommandLine text={`skerry security-group info ${shellQuoted(group.name)}`} />
              <CommandLine text={curlCommand('GET', pathOf(group.href))} />
            </div>
          </Card>
        </div>
      </div>
      {conflict && <ConflictDialog conflict={conflict} onSend={send} onClose={leave} />}
    </div>
  )
}

function Header({ group, unavailable, onChange }: GroupPartProps) {
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const close = (): void => setOpen(undefined)
  return (
    <div className={page['tools']}>
      <span className={group.status === 0 ? page['warn'] : page['good']} role="status">
        {en.networkState(group.status === 0)}
      </span>
      <span className={page['soft']}>{en.vms(group.members?.total ?? 0)}</span>
      <span className={page['rest']} />
      <Button icon="gear" unavailable={unavailable} onClick={() => setOpen('edit')}>
        Change
      </Button>
      <Button icon="trash" unavailable={unavailable} onClick={() => setOpen('delete')}>
        Delete
      </Button>
      {open === 'edit' && (
        <EditDialog group={group} unavailable={unavailable} onChange={onChange} onClose={close} />
      )}
      {open === 'delete' && <DeleteDialog group={group} onClose={close} />}
    </div>
  )
}

interface DeleteDialogProps {
  readonly group: SecurityGroupDocument
  readonly onClose: () => void
}

function DeleteDialog({ group, onClose }: DeleteDialogProps) {
  const { makeChange } = useChange()
  const navigate = useNavigate()
  const href = linkOf(group, 'remove') ?? ''
  const remove = (): void => {
    onClose()
    makeChange({
      href,
      method: 'DELETE',
      success: `Deleted security group ${group.name}`,
      failure: `Security group ${group.name} was not deleted`,
      onDone: () => void navigate(paths.securityGroups),
    })
  }
  return (
    <ConfirmDialog
      title={`Delete security group ${group.name}`}
      action="Delete"
      icon="trash"
      onClose={onClose}
      onConfirm={remove}
    >
      <p>
        Its rules are deleted. VMs that are in no other group accept and send everything, as far as
        their networks do. No rule of another group may name it.
      </p>
      <CommandChoice
        skerry={removeGroupCommand(group.name)}
        curl={curlCommand('DELETE', pathOf(href))}
      />
    </ConfirmDialog>
  )
}

/** The VMs that have all labels; the cloud lists the first of them. */
function MembersCard({ group }: { readonly group: SecurityGroupDocument }) {
  const { total = 0, vmReference = [] } = group.members ?? {}
  return (
    <Card title={`VMs with its labels: ${formatCount(total)}`}>
      {total === 0 ? (
        <p className={page['soft']}>
          {groupLabelsOf(group).length === 0
            ? 'The group has no labels, so it has no VMs.'
            : 'No VM has all labels. Labels are set on the tab Metadata of a VM.'}
        </p>
      ) : (
        <ul className={page['names']} aria-label="VMs with its labels">
          {vmReference.map(({ name, href }) => (
            <li key={href}>
              <Link className={page['link']} to={paths.vm(idOf(href))}>
                {name}
              </Link>
            </li>
          ))}
        </ul>
      )}
      {total > vmReference.length && (
        <p className={page['small']}>and {formatCount(total - vmReference.length)} more</p>
      )}
    </Card>
  )
}

function DetailsCard({ group }: { readonly group: SecurityGroupDocument }) {
  const labels = groupLabelsOf(group).map(labelText)
  return (
    <Card title="Details">
      <Facts
        rows={[
          group.description !== undefined && ['Description', group.description],
          [
            'Labels',
            labels.length === 0 ? (
              en.noLabels
            ) : (
              <span key="labels" className={page['mono']}>
                {labels.join(', ')}
              </span>
            ),
          ],
          ['Accepts', en.groupLimit(isLimited(group, 'in'))],
          ['Sends', en.groupLimit(isLimited(group, 'out'))],
          [
            'ID',
            <span key="id" className={page['mono']}>
              {idOf(group.href)}
            </span>,
          ],
        ]}
      />
    </Card>
  )
}
