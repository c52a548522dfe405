job_type :sidekiq, "cd :path && RAILS_ENV=:environment bundle exec sidekiq-client push :task :output"
job_type :rake, 'cd :path && :environment_variable=:environment bundle exec rake :task'
job_type :rbenv, %Q{export PATH=/opt/rbenv/shims:$PATH; cd :path && :task}
job_type :versioned, "RBENV_VERSION=:ruby :task"
every 15.minutes do
  sidekiq "PollWorker"
  rake "poll"
  rbenv "x"
  versioned "y"
  unknown_type "z"
end
