import { useNavigate, useParams } from 'react-router'

import type { TemplateDocument } from '../../api/documents.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { Button } from '../../components/button.tsx'
import { Card, Facts } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { useDocument } from '../../data/use-documents.ts'
import { curlCommand, shellQuoted } from '../../model/commands.ts'
import { formatMiB } from '../../text/format.ts'

import page from '../../styles/page.module.css'

export function TemplatePage() {
  const id = useParams()['template'] ?? ''
  const href = `/api/vAppTemplate/${id}`
  const { data: template, error, refetch } = useDocument<TemplateDocument>(href)
  const navigate = useNavigate()
  usePageTitle({ text: 'Templates', to: paths.templates }, { text: template?.name ?? '…' })
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!template) return <div className={page['page']} aria-busy="true" />
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <div className={page['tools']}>
        <Button
          tone="primary"
          icon="plus"
          onClick={() =>
            void navigate(`${paths.newVm}?template=${encodeURIComponent(template.name)}`)
          }
        >
          Create VM
        </Button>
      </div>
      <div className={page['columns']}>
        <Card title="Details">
          <Facts
            rows={[
              ['CPUs', template.numberOfCpus],
              ['Memory', formatMiB(template.memoryMB)],
              ['Disk', formatMiB(template.diskMB)],
              template.digest && [
                template.digest.algorithm.toUpperCase(),
                <span key="digest" className={page['mono']}>
                  {template.digest.value}
                </span>,
              ],
              [
                'ID',
                <span key="id" className={page['mono']}>
                  {id}
                </span>,
              ],
            ]}
          />
        </Card>
        <Card title="On a terminal">
          <div className={page['stack']}>
            <CommandLine
              wraps
              text={`skerry create my-vm --template ${shellQuoted(template.name)} --start`}
            />
            <CommandLine wraps text={curlCommand('GET', href)} />
          </div>
        </Card>
      </div>
    </div>
  )
}
