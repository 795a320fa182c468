import { useState, type FormEvent } from 'react'

import { CpusField, MemoryField } from '../../app/vms/hardware-fields.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { CheckField, TextField } from '../../components/field.tsx'
import { source } from '../../data/source.ts'
import { useChange } from '../../data/use-change.ts'
import {
  settingsChanges,
  settingsCommand,
  whyNotSettings,
} from '../../model/machine/machine-forms.ts'
import type { MachineVm } from '../../model/machine/machine-vm.ts'

import page from '../../styles/page.module.css'

export function SettingsTab({ vm }: { readonly vm: MachineVm }) {
  const [cpus, setCpus] = useState(String(vm.cpus))
  const [memory, setMemory] = useState(String(vm.memoryMiB))
  const [disk, setDisk] = useState(String(vm.diskMiB))
  const [autostart, setAutostart] = useState(vm.autostart)
  const { makeChange, isPending } = useChange()
  const wanted = {
    cpus: Number(cpus),
    memoryMiB: Number(memory),
    diskMiB: Number(disk),
    autostart,
  }
  const changes = settingsChanges(wanted, vm)
  const reason = isPending ? 'the change is being sent' : whyNotSettings(wanted, vm)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    makeChange({
      href: vm.href,
      method: 'PATCH',
      body: changes,
      success: `Changed ${vm.name}`,
      failure: `${vm.name} was not changed`,
    })
  }
  return (
    <form className={`${page['columns']} ${page['form']}`} onSubmit={submit}>
      <Card title="Hardware">
        <div className={page['fields']}>
          <CpusField value={cpus} onChange={setCpus} />
          <MemoryField value={memory} onChange={setMemory} />
          <TextField
            label="Disk (MiB)"
            type="number"
            min={vm.diskMiB}
            hint="A disk can grow, but not shrink."
            value={disk}
            onChange={(event) => setDisk(event.target.value)}
          />
          <CheckField
            label="Start the VM when this machine starts"
            checked={autostart}
            onChange={setAutostart}
          />
          <div className={page['tools']}>
            <Button type="submit" tone="primary" unavailable={reason}>
              Save changes
            </Button>
            {reason !== undefined && (
              <span className={page['small']}>Not available: {reason}.</span>
            )}
          </div>
        </div>
      </Card>
      <Card title="On a terminal">
        <div className={page['stack']}>
          <CommandLine wraps text={settingsCommand(vm.id, wanted)} />
          <CommandLine wraps text={source().curlLine('PATCH', vm.href, changes)} />
        </div>
      </Card>
    </form>
  )
}
