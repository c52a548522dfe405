job_type :sitemap_refresh, 'cd :path && bundle exec rake sitemap:refresh'
every :day, at: '12:30am', roles: [:app] do
  sitemap_refresh nil
end
set :job_template, nil
