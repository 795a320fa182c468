# A network between VMs, and a VM with a fixed address on it.
terraform {
  required_providers {
    skerry = { source = "skerry.example/skerry/skerry" }
  }
}

# SKERRY_URL and SKERRY_TOKEN say which cloud, and as whom.
provider "skerry" {}

variable "description" {
  default = "Between the web servers and their database"
}

variable "template" {
  default = "debian"
}

variable "address" {
  default = "192.168.10.9"
}

data "skerry_template" "base" {
  name = var.template
}

data "skerry_vdc" "main" {
  name = "main"
}

resource "skerry_network" "backend" {
  vdc         = data.skerry_vdc.main.id
  name        = "backend"
  description = var.description
  gateway     = "192.168.10.1"
  netmask     = "255.255.255.0"
  dns         = ["192.168.10.2"]
  ranges      = [{ start = "192.168.10.100", end = "192.168.10.199" }]
}

resource "skerry_vm" "database" {
  vdc        = data.skerry_vdc.main.id
  name       = "database"
  template   = data.skerry_template.base.id
  allow_stop = true
  cards = [
    { network = skerry_network.backend.name, mode = "MANUAL", address = var.address },
  ]
}
