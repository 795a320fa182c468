import { useState, type FormEvent } from 'react'

import type { TaskDocument } from '../../api/documents.ts'
import { CpusField, MemoryField } from '../../app/vms/hardware-fields.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { TextField } from '../../components/field.tsx'
import { useChange } from '../../data/use-change.ts'
import { findAction } from '../../model/actions.ts'
import { shellQuoted, sizeOption } from '../../model/commands.ts'
import { resourceType, type VmDetails } from '../../model/vm.ts'

import page from '../../styles/page.module.css'

interface Hardware {
  readonly cpus: number
  readonly memoryMiB: number
  readonly diskMiB: number
}

const options = ({ cpus, memoryMiB, diskMiB }: Hardware): string =>
  `--cpus ${cpus} --memory ${sizeOption(memoryMiB)} --disk ${sizeOption(diskMiB)}`

function whyNot(wanted: Hardware, vm: VmDetails): string | undefined {
  const isWhole = Object.values(wanted).every((value) => Number.isInteger(value) && value > 0)
  if (!isWhole) return 'all values must be whole numbers above 0'
  if (wanted.diskMiB < vm.diskMiB) return 'a disk can grow, but not shrink'
  const isSame =
    wanted.cpus === vm.cpus && wanted.memoryMiB === vm.memoryMiB && wanted.diskMiB === vm.diskMiB
  return isSame ? 'nothing has changed' : undefined
}

export function HardwareTab({ vm }: { readonly vm: VmDetails }) {
  const [cpus, setCpus] = useState(String(vm.cpus))
  const [memory, setMemory] = useState(String(vm.memoryMiB))
  const [disk, setDisk] = useState(String(vm.diskMiB / 1024))
  const { makeChange, isPending } = useChange<TaskDocument>()
  const action = findAction(vm.actions, 'changeHardware')
  const wanted = {
    cpus: Number(cpus),
    memoryMiB: Number(memory),
    diskMiB: Math.round(Number(disk) * 1024),
  }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!action) return
    const item = [
      { resourceType: resourceType.processor, virtualQuantity: wanted.cpus },
      { resourceType: resourceType.memory, virtualQuantity: wanted.memoryMiB },
      { resourceType: resourceType.disk, virtualQuantity: wanted.diskMiB },
    ]
    makeChange({
      href: action.href,
      method: 'POST',
      body: { virtualHardwareSection: { item } },
      success: `Changing hardware of ${vm.name}`,
      failure: `The hardware of ${vm.name} was not changed`,
    })
  }
  return (
    <form className={`${page['columns']} ${page['form']}`} onSubmit={submit}>
      <Card title="Hardware">
        <div className={page['fields']}>
          <CpusField max={64} value={cpus} onChange={setCpus} />
          <MemoryField value={memory} onChange={setMemory} />
          <TextField
            label="Disk (GiB)"
            type="number"
            min={vm.diskMiB / 1024}
            step="any"
            hint="A disk can grow, but not shrink."
            value={disk}
            onChange={(event) => setDisk(event.target.value)}
          />
          <div className={page['tools']}>
            <Button
              type="submit"
              tone="primary"
              unavailable={
                action?.unavailable ?? (isPending ? 'the change is being sent' : whyNot(wanted, vm))
              }
            >
              Save changes
            </Button>
            {action?.unavailable !== undefined && (
              <span className={page['small']}>Not available: {action.unavailable}.</span>
            )}
          </div>
        </div>
      </Card>
      <Card title="On a terminal">
        <CommandLine wraps text={`skerry set ${shellQuoted(vm.name)} ${options(wanted)}`} />
      </Card>
    </form>
  )
}
