# A farm on Nomad: one process that queues files, and workers. `nomad job run voxmux.nomad.hcl`, after
# `nomad var put nomad/jobs/voxmux VOXMUX_STORE=postgres://… VOXMUX_BASE_URL=… VOXMUX_AUTH_URL=…` and so on.
variable "image" {
  default = "registry.example/voxmux-farm:latest"
}

variable "workers" {
  default = 2
}

job "voxmux" {
  type = "service"

  group "ingest" {
    count = 1

    volume "media" {
      type   = "host" # the same share, mounted on every client
      source = "media"
    }

    task "ingest" {
      driver       = "docker"
      kill_timeout = "60s"

      config {
        image = var.image
        args  = ["watch", "--ingest-only", "--config", "/local/farm.json"]
      }

      volume_mount {
        volume      = "media"
        destination = "/media"
      }

      template {
        destination = "local/farm.json"
        data        = file("farm.json")
      }

      template {
        destination = "secrets/environment"
        env         = true
        data        = "{{ with nomadVar \"nomad/jobs/voxmux\" }}{{ range .Tuples }}{{ .K }}={{ .V | toJSON }}\n{{ end }}{{ end }}"
      }

      resources {
        cpu    = 500
        memory = 512
      }
    }
  }

  group "worker" {
    count = var.workers

    volume "media" {
      type   = "host"
      source = "media"
    }

    task "worker" {
      driver       = "docker"
      kill_timeout = "60s"

      config {
        image = var.image
        args  = ["worker", "--config", "/local/farm.json"]
      }

      volume_mount {
        volume      = "media"
        destination = "/media"
      }

      template {
        destination = "local/farm.json"
        data        = file("farm.json")
      }

      template {
        destination = "secrets/environment"
        env         = true
        data        = "{{ with nomadVar \"nomad/jobs/voxmux\" }}{{ range .Tuples }}{{ .K }}={{ .V | toJSON }}\n{{ end }}{{ end }}"
      }

      resources {
        cpu    = 2000
        memory = 2048
      }
    }
  }
}
