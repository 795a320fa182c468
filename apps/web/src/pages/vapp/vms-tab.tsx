import { useState } from 'react'
import { Link } from 'react-router'

import { linkOf, type VAppDocument } from '../../api/documents.ts'
import { paths } from '../../app/paths.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { SelectField, TextField } from '../../components/field.tsx'
import { PowerLabel } from '../../components/power-label.tsx'
import { Table } from '../../components/table.tsx'
import { useChange } from '../../data/use-change.ts'
import { useRecords } from '../../data/use-record-list.ts'
import { vmDetailsOf } from '../../model/vm.ts'
import { formatMiB } from '../../text/format.ts'
import { RowMenu, type OpenedRow } from '../vms/row-menu.tsx'

import page from '../../styles/page.module.css'

export function VmsTab({ vapp }: { readonly vapp: VAppDocument }) {
  const [opened, setOpened] = useState<OpenedRow>()
  const [isAdding, setAdding] = useState(false)
  const recomposeHref = linkOf(vapp, 'recompose')
  const vms = (vapp.children?.vm ?? []).map(vmDetailsOf)
  return (
    <Card
      title="VMs"
      flush
      tools={
        <Button
          small
          icon="plus"
          unavailable={recomposeHref === undefined ? 'the vApp cannot be changed now' : undefined}
          onClick={() => setAdding(true)}
        >
          Add VM
        </Button>
      }
    >
      <Table
        label="VMs"
        rows={vms}
        keyOf={(vm) => vm.id}
        empty="The vApp has no VMs."
        columns={[
          {
            key: 'power',
            title: 'State',
            width: '9rem',
            isEssential: true,
            cell: (vm) => <PowerLabel power={vm.power} isBusy={vm.isBusy} />,
          },
          {
            key: 'name',
            title: 'Name',
            isEssential: true,
            cell: (vm) => (
              <Link className={page['strong']} to={paths.vm(vm.id)}>
                {vm.name}
              </Link>
            ),
          },
          {
            key: 'address',
            title: 'IP address',
            cell: (vm) => <span className={page['mono']}>{vm.address ?? '–'}</span>,
          },
          { key: 'cpus', title: 'CPUs', isNumeric: true, cell: (vm) => vm.cpus },
          {
            key: 'memory',
            title: 'Memory',
            isNumeric: true,
            cell: (vm) => formatMiB(vm.memoryMiB),
          },
          {
            key: 'tools',
            title: 'Actions',
            isTitleHidden: true,
            isNumeric: true,
            isEssential: true,
            cell: (vm) => (
              <Button
                small
                tone="plain"
                icon="more"
                aria-haspopup="menu"
                label={`Actions of ${vm.name}`}
                onClick={(event) => setOpened({ row: vm, anchor: event.currentTarget })}
              />
            ),
          },
        ]}
      />
      <RowMenu opened={opened} onClose={() => setOpened(undefined)} />
      {isAdding && recomposeHref !== undefined && (
        <AddVmDialog vapp={vapp} href={recomposeHref} onClose={() => setAdding(false)} />
      )}
    </Card>
  )
}

interface AddVmDialogProps {
  readonly vapp: VAppDocument
  readonly href: string
  readonly onClose: () => void
}

function AddVmDialog({ vapp, href, onClose }: AddVmDialogProps) {
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState('')
  const templates = useRecords('vAppTemplate', { sort: 'name' }).data?.records ?? []
  const template = chosen || (templates[0]?.href ?? '')
  const { makeChange } = useChange()
  const submit = (): void => {
    makeChange({
      href,
      method: 'POST',
      body: { sourcedItem: [{ source: { href: template, name } }] },
      success: `Adding ${name} to ${vapp.name}`,
      failure: `${name} was not added`,
      onDone: onClose,
    })
  }
  return (
    <FormDialog
      title={`Add a VM to ${vapp.name}`}
      onClose={onClose}
      onSubmit={submit}
      action="Add VM"
      icon="plus"
      unavailable={name === '' ? 'the VM needs a name' : undefined}
    >
      <TextField label="Name" value={name} onChange={(event) => setName(event.target.value)} />
      <SelectField
        label="Template"
        value={template}
        options={templates.map((each) => ({ value: each.href, text: each.name }))}
        onChange={setChosen}
      />
    </FormDialog>
  )
}
